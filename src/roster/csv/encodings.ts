/** The encodings that a CSV file may be declared to have. */
export const csvEncodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
