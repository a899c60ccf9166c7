/** Whether a process can do its work, and what it says about that. */
export interface Readiness {
  isReady: boolean;
  checks: Readonly<Record<string, string>>;
}

/** What a server of metrics and health is asked about. */
export interface Health {
  /** Everything in Prometheus' text format. */
  write(): Promise<{ text: string; contentType: string }>;
  readiness(): Promise<Readiness>;
}
