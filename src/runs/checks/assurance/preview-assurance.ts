import type { RunSettings } from '../../workplace.js';
import { drawNames } from './draw-names.js';
import { type AssuranceOptions, drawSeed } from './run-assurance.js';

/** What a measurement would search for and cost. */
export interface AssurancePreview {
  file: string;
  digest: string;
  listed: number;
  seed: string;
  /** Repeats not counted. */
  calls: number;
  minutes: number;
  cost: { amount: number; currency: string } | null;
  /** Names of the sample by type and script. */
  strata: Readonly<Record<string, number>>;
}

/** What a measurement under these settings would do, without storing or calling anything; the seed given, it is the sample that is searched for. Throws ConfigError when there is none. */
export function previewAssurance(settings: RunSettings, options: AssuranceOptions): AssurancePreview {
  const { list } = options;
  const seed = options.seed ?? drawSeed();
  const names = drawNames(list, { ...options, seed });
  const strata: Record<string, number> = {};
  for (const { type, script } of names) strata[`${type}, ${script}`] = (strata[`${type}, ${script}`] ?? 0) + 1;
  const { pricePerSearch, currency } = settings.budget;
  return {
    file: list.file,
    digest: list.digest,
    listed: list.parties.length,
    seed,
    calls: names.length,
    minutes: Math.ceil(names.length / settings.service.rate.perSecond / 6) / 10,
    cost:
      pricePerSearch === undefined ? null : { amount: Math.round(names.length * pricePerSearch * 100) / 100, currency },
    strata,
  };
}
