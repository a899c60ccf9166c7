import type { EncodingLabel } from './encodings.js';

/** Where the files of a CSV table lie and how they are written. */
export interface CsvSource {
  /** Files, patterns of files (`*`, `?`, `[...]`, `**`), or `-` for standard input. */
  path: string | readonly string[];
  delimiter: string;
  encoding: 'auto' | EncodingLabel;
  /** Whether the first record names the columns; without it they are called `1`, `2`, and so on. */
  header: boolean;
}
