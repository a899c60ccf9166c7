/** What a bench found: `ratio` is what is measured over what it is measured by, and `goal` the least that is good enough, or the most where the bench says so. */
export interface BenchResult {
  bench: string;
  ratio: number;
  goal: number;
  ok: boolean;
  samples: readonly object[];
}

/** One bench: measures, reports people in whole lines what it finds, and gives the figures. */
export type Bench = (emit: (line: string) => void) => Promise<BenchResult>;
