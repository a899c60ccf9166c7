import { ConfigError } from '../../../errors.js';
import type { PublishedList } from '../../../lists/listed-party.js';
import { drawSample, type SampledName, type SampleSettings } from './draw-sample.js';

/** The sample of a list as `drawSample` draws it; throws ConfigError when the list has no name to draw, which would measure nothing. */
export function drawNames({ file, parties }: PublishedList, settings: SampleSettings): readonly SampledName[] {
  const names = drawSample(parties, settings);
  if (names.length > 0) return names;
  const message = `${file} has no name of a person or an entity to measure on, among ${parties.length} entries`;
  throw new ConfigError([{ where: 'flag --list', path: '', message }]);
}
