/** Why a gate does not pass whatever it says of single customers: rosters or customers are missing; null when none are. */
export function describeGap(neverImported: readonly string[], inScope: number): string | null {
  if (neverImported.length > 0) {
    const names = neverImported.join(', ');
    return `never imported: ${names}. Nothing is known of their customers. Import each with nightscreen import --roster NAME, or remove it from the configuration.`;
  }
  return inScope === 0 ? 'No customer is in scope: no roster was imported, or all customers have left.' : null;
}
