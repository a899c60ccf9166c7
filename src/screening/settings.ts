import { z } from 'zod';
import { durationSchema, toDurationMs } from '../roster/duration.js';

const dayMs = 24 * 60 * 60 * 1_000;
const hoursPerDay = 24;

const cadenceDuration = durationSchema.refine((duration) => toDurationMs(duration) > 0, 'must be longer than 0');

/** The screening frequency of each risk tier instead of `cadenceHours`; customers without a tier count as high. */
const cadenceSettingsSchema = z.strictObject({
  high: cadenceDuration.optional().describe('customers of high risk and those without a tier, as in 12h'),
  medium: cadenceDuration.optional().describe('customers of medium risk, as in 24h'),
  low: cadenceDuration.optional().describe('customers of low risk, as in 7d'),
  reason: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe('why less often than daily is enough; required then, stored with each run, printed in its report'),
});

const share = z.number().min(0).max(1);

/** When a person must accept what a run found; shares of 1. */
const holdSettingsSchema = z.strictObject({
  vanishedShare: share
    .default(0.1)
    .describe(
      'known hits of a risk category that one run no longer finds; half of it from 500 on, half as much again in a week',
    ),
  lostDossierShare: share
    .default(0.03)
    .describe('known dossiers that a whole sweep no longer lists; five pass, unless they are most of them'),
});

/** The bounds beyond which a run is held; shares of 1. */
export interface HoldBounds extends z.output<typeof holdSettingsSchema> {
  /** Customers with a first open alert in one run from which webhooks wait until the run is accepted. */
  newlyOpenShare: number;
  /** With fewer vanished hits the shares do not apply, in one run or in seven days. */
  vanishedLeast: number;
  /** From so many known hits on, `manyShare` applies. */
  manyKnown: number;
  manyShare: number;
  /** So many known hits hold a run when all of them vanish. */
  allOf: number;
  weekShare: number;
  /** Fewer customers never hold webhooks. */
  newlyOpenLeast: number;
}

/** The bounds by the settings. */
export function toHoldBounds(settings: Partial<HoldBounds> = {}): HoldBounds {
  const { vanishedShare = 0.1 } = settings;
  return {
    vanishedShare,
    lostDossierShare: 0.03,
    newlyOpenShare: 0.01,
    vanishedLeast: 5,
    manyKnown: 500,
    manyShare: vanishedShare / 2,
    allOf: 2,
    weekShare: Math.min(1, vanishedShare * 1.5),
    newlyOpenLeast: 50,
    ...settings,
  };
}

/** The limits of searches because of events and dossier changes; these are billed. */
const dirtySettingsSchema = z.strictObject({
  searchesPerDay: z
    .int()
    .min(0)
    .default(500)
    .describe('calls of all such runs of a day, control searches and repeats counted; 0 for none'),
});

/** The limits of searches because of events. */
export interface DirtyLimits {
  searchesPerDay: number;
  /** Searches of one run, control searches not counted. */
  searchesPerRun: number;
  /** How long a customer is not searched again because of an event. */
  againAfterMs: number;
}

/** Which customers a run screens, and when again. */
export const screeningSettingsSchema = z
  .strictObject({
    cadenceHours: z
      .number()
      .positive()
      .default(hoursPerDay)
      .describe(
        'a customer is due when the next run would come more than this and 2 hours after the run that last screened it. It is overdue an hour later. Below 24, it is due and overdue after this and 1 hour. More than 24 needs `cadence.reason`',
      ),
    cadence: cadenceSettingsSchema.optional().describe('the same by risk tier, instead of `cadenceHours`'),
    leaveAfterDays: z
      .number()
      .int()
      .positive()
      .default(7)
      .describe(
        'a customer is offboarded when whole accepted snapshots omit it on so many further days (UTC) after the first one without it',
      ),
    controlsEvery: z
      .number()
      .int()
      .positive()
      .default(10_000)
      .describe('searches after which the control searches are repeated; they are also made first and last'),
    reuseMaxAge: z
      .union([durationSchema, z.literal(0)])
      .default(0)
      .describe(
        'maximum age of an answer to the same request that is reused instead of a search, as in 12h; 0 for never',
      ),
    dirty: dirtySettingsSchema
      .optional()
      .describe('the limits of `screen --dirty` and of the job `dirty`; defaults apply without it'),
    hold: holdSettingsSchema
      .optional()
      .describe('when a person must accept what a run found; defaults apply without it'),
  })
  .superRefine(({ cadenceHours, cadence }, context) => {
    if (cadence?.reason !== undefined) return;
    const message = 'is missing: a tier that is screened less often than daily needs a reason';
    const tiers = (['high', 'medium', 'low'] as const).filter((tier) => toDurationMs(cadence?.[tier] ?? '0h') > dayMs);
    for (const tier of tiers) {
      context.addIssue({ code: 'custom', path: ['cadence', tier], message: `${message}, as screening.cadence.reason` });
    }
    if (cadenceHours > hoursPerDay && tiers.length === 0) {
      context.addIssue({
        code: 'custom',
        path: ['cadenceHours'],
        message: `is longer than a day, which needs a reason, as screening.cadence.reason`,
      });
    }
  });
/** The settings without bounds that the configuration does not have. */
export function toScreeningPolicy({ hold, dirty, ...policy }: ScreeningSettings) {
  return {
    ...policy,
    ...(hold && { hold: { vanishedShare: hold.vanishedShare, lostDossierShare: hold.lostDossierShare } }),
    ...(dirty && { dirty: { searchesPerDay: dirty.searchesPerDay } }),
  };
}

type StrictSettings = z.output<typeof screeningSettingsSchema>;
/** Which customers a run screens, and when again, with further bounds where they are not the usual ones. */
export interface ScreeningSettings extends Omit<StrictSettings, 'hold' | 'dirty'> {
  hold?: Partial<HoldBounds> | undefined;
  dirty?: Partial<DirtyLimits> | undefined;
}
