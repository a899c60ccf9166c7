import type { RosterSettings } from '../../roster/settings.js';
import { type ImportPreview, previewImport } from '../rosters/preview-import.js';
import type { Workplace } from '../workplace.js';
import { type PricedCalls, priceCalls } from './price-calls.js';

/** What an onboarding would read, make and cost. */
export interface OnboardingPreview extends ImportPreview, PricedCalls {}

/** Reads a roster as an onboarding would, and says what it would come to; nothing is stored and nobody is searched for. Throws RosterError. */
export async function previewOnboarding(
  workplace: Workplace,
  roster: RosterSettings,
  signal: AbortSignal,
): Promise<OnboardingPreview> {
  const preview = await previewImport(workplace, roster, signal);
  return { ...preview, ...priceCalls(workplace.settings, preview.distinctSearches) };
}
