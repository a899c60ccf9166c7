import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const projectFolder = (): string => dirname(createRequire(import.meta.url).resolve('#package.json'));

/** The folder of the fixtures that are shipped with Nightscreen. */
const demoFolder = (): string => join(projectFolder(), 'fixtures', 'demo');

/** A file of the demo fixtures, as an absolute path; throws when the installation lacks it. */
export function findDemoFixture(name: string): string {
  const path = join(demoFolder(), name);
  if (!existsSync(path)) throw new Error(`the installation is incomplete: ${path} is missing`);
  return path;
}
