import { z } from 'zod';
import { createSeededRandom } from '../seeded-random.js';
import { createSlidingWindow, type SlidingWindow } from '../sliding-window.js';

const errorStatus = z.number().int().min(400).max(599).default(503);
const seed = z.number().int().default(1);

const limitSchema = z.strictObject({
  /** The most calls let through per private key in any second that slides. */
  perSecond: z.number().int().min(1),
  /** Whether a refusal says in `Retry-After` when there is room again, in whole seconds. */
  retryAfter: z.boolean().default(false),
});
const refuseSchema = z.strictObject({
  /** The share of calls that fail, by chance. */
  share: z.number().min(0).max(1),
  status: errorStatus,
  seed,
  /** The `Retry-After` header as it is sent. */
  retryAfter: z.string().optional(),
});
const outageSchema = z.strictObject({ status: errorStatus.or(z.enum(['cut', 'hang'])) });
const latencySchema = z
  .strictObject({ min: z.number().min(0), max: z.number().max(600_000), seed })
  .refine((range) => range.min <= range.max, 'min is above max');

/** What the control of the weather takes; an empty object is fair weather. */
export const weatherSchema = z.strictObject({
  /** Only requests to this path below the version prefix. */
  path: z.string().startsWith('/').optional(),
  limit: limitSchema.optional(),
  refuse: refuseSchema.optional(),
  outage: outageSchema.optional(),
  latencyMs: latencySchema.optional(),
});
/** A lasting trouble as a caller writes it: a rate limit, failures by chance, an outage, slow answers. */
export type Weather = z.input<typeof weatherSchema>;
type ActiveWeather = z.output<typeof weatherSchema>;

/** How a call is refused without any work. */
export interface Refusal {
  status: number;
  message: string;
  /** The error code; the status decides by default. */
  code?: string | undefined;
  /** The header as it is sent. */
  retryAfter?: string | undefined;
  /** The body as it is sent; the service's error body by default. */
  body?: string | undefined;
}

/** What the weather does to one call before it is answered. */
export type WeatherVerdict =
  | { kind: 'pass' }
  | { kind: 'cut' }
  | { kind: 'hang' }
  | { kind: 'refuse'; refusal: Refusal };

/** What the weather must know of a call. */
export interface WeatherCall {
  path: string;
  /** When it arrived, in milliseconds of `performance.now()`. */
  atMs: number;
  /** The private key; undefined when the key presented opens nothing. */
  privateKey: string | undefined;
}

/** The trouble that lasts until it is replaced. */
export interface WeatherStation {
  /** Replaces the weather and starts its windows and its chances anew; throws when it is not well-formed. */
  replace(weather: Weather): void;
  /** Decides about a call: outage first, then the rate limit, then failures by chance. */
  judge(call: WeatherCall): WeatherVerdict;
  /** How much later this call is answered, whatever the answer is. */
  drawLatencyMs(path: string): number;
}

const SECOND_MS = 1_000;
const PASS: WeatherVerdict = { kind: 'pass' };

interface Mood {
  weather: ActiveWeather;
  windows: Map<string, SlidingWindow>;
  drawRefusal(): number;
  drawLatency(): number;
}

const toMood = (weather: ActiveWeather): Mood => ({
  weather,
  windows: new Map(),
  drawRefusal: createSeededRandom(weather.refuse?.seed ?? 0),
  drawLatency: createSeededRandom(weather.latencyMs?.seed ?? 0),
});

const judgeOutage = (outage: NonNullable<ActiveWeather['outage']>): WeatherVerdict => {
  if (outage.status === 'cut' || outage.status === 'hang') return { kind: outage.status };
  return { kind: 'refuse', refusal: { status: outage.status, message: 'The service has an outage.' } };
};

/** A call that is let through counts in the window whatever becomes of it later; a refused one does not. */
const judgeLimit = ({ weather: { limit }, windows }: Mood, call: WeatherCall): WeatherVerdict => {
  if (!limit || call.privateKey === undefined) return PASS;
  const window = windows.get(call.privateKey) ?? createSlidingWindow(limit.perSecond, SECOND_MS);
  windows.set(call.privateKey, window);
  const waitMs = window.take(call.atMs);
  if (waitMs === 0) return PASS;
  const retryAfter = limit.retryAfter ? String(Math.ceil(waitMs / SECOND_MS)) : undefined;
  return { kind: 'refuse', refusal: { status: 429, message: 'Too many requests.', retryAfter } };
};

const judgeChance = ({ weather: { refuse }, drawRefusal }: Mood): WeatherVerdict => {
  if (!refuse || drawRefusal() >= refuse.share) return PASS;
  const { status, retryAfter } = refuse;
  return { kind: 'refuse', refusal: { status, retryAfter, message: 'Refused by chance.' } };
};

/** Creates a station with fair weather. */
export const createWeatherStation = (): WeatherStation => {
  let mood = toMood({});
  const isMeant = (path: string): boolean => mood.weather.path === undefined || mood.weather.path === path;
  return {
    replace: (weather) => {
      mood = toMood(weatherSchema.parse(weather));
    },
    judge: (call) => {
      if (!isMeant(call.path)) return PASS;
      if (mood.weather.outage) return judgeOutage(mood.weather.outage);
      const limited = judgeLimit(mood, call);
      return limited.kind === 'pass' ? judgeChance(mood) : limited;
    },
    drawLatencyMs: (path) => {
      const { latencyMs } = mood.weather;
      if (!latencyMs || !isMeant(path)) return 0;
      return latencyMs.min + mood.drawLatency() * (latencyMs.max - latencyMs.min);
    },
  };
};
