import type { InvitationInput } from './invitation-inputs.js';

// "+45 12 34 56 78", "004512345678" and "(45) 1234-5678" are one number.
const foldPhone = (text: string): string => text.replace(/\D/g, '').replace(/^00/, '');

const foldEmail = (text: string): string => text.normalize('NFC').trim().toLowerCase();

/** Whether two recipients of a channel are the same: e-mail addresses whatever their case, phone numbers whatever is between the digits. */
export const isSameRecipient = (channel: InvitationInput['channel'], one: string, other: string): boolean => {
  if (foldEmail(one) === foldEmail(other)) return true;
  return channel === 'sms' && foldPhone(one) !== '' && foldPhone(one) === foldPhone(other);
};
