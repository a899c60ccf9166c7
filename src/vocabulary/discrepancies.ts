/** Each kind of discrepancy in words, most urgent first, with what to do next and the default severity. */
export const discrepancyWords = {
  approved_with_true_match: {
    title: 'true match with an approved dossier',
    next: 'Restrict the customer and withdraw the approval of the dossier.',
    severity: 'critical',
    isFixed: true,
  },
  approved_with_sanctions_alert: {
    title: 'open sanctions alert with an approved dossier',
    next: 'Enter a disposition for the alert first. Until then the approval is provisional.',
    severity: 'critical',
    isFixed: true,
  },
  unscreened_dossier_party: {
    title: 'party of a dossier that is not on the roster, and so is not screened',
    next: 'Add the owner or director to the related parties of the customer.',
    severity: 'critical',
    isFixed: true,
  },
  test_dossier: {
    title: 'test dossier in live data',
    next: 'Find out who verified a live customer with a test key; a test verification is no proof.',
    severity: 'critical',
    isFixed: true,
  },
  name_conflict: {
    title: 'names disagree',
    next: 'Compare the identity document with the roster; the wrong person may have been verified, or the wrong name screened.',
    severity: 'high',
    isFixed: true,
  },
  rejected_dossier: {
    title: 'active customer with a rejected dossier',
    next: 'Offboard the customer, or verify it again.',
    severity: 'high',
    isFixed: true,
  },
  roster_incomplete: {
    title: 'roster below the control total of its source',
    next: 'Export the roster again; a customer that is missing from it is not screened.',
    severity: 'high',
    isFixed: true,
  },
  verified_name_not_searched: {
    title: 'verified name that was never searched for',
    next: 'Add the verified name to the roster, as the name or as an alias.',
    severity: 'medium',
  },
  birth_date_conflict: {
    title: 'birth dates disagree',
    next: 'Correct the roster from the verified document, or verify the customer again.',
    severity: 'medium',
  },
  country_conflict: {
    title: 'countries disagree',
    next: 'Correct the roster from the verified document.',
    severity: 'medium',
  },
  type_conflict: {
    title: 'person and company disagree',
    next: 'Correct the type in the roster, or verify the customer again under the right type.',
    severity: 'medium',
  },
  approved_with_open_alert: {
    title: 'open alert with an approved dossier',
    next: 'Enter a disposition for the alert.',
    severity: 'medium',
  },
  approved_with_truncated_answer: {
    title: 'approved dossier with a truncated screening answer',
    next: 'Search for the name with more facts. The truncated matches are not known.',
    severity: 'medium',
  },
  approved_before_name_change: {
    title: "dossier approved before the customer's last change of name",
    next: 'Verify the customer under the new name.',
    severity: 'medium',
  },
  never_screened: {
    title: 'verified customer that was never screened',
    next: 'See why in the section of customers not screened.',
    severity: 'medium',
  },
  dossier_needs_attention: {
    title: 'active customer whose dossier needs attention',
    next: 'Complete the verification.',
    severity: 'medium',
  },
  closed_dossier: {
    title: 'active customer with a closed dossier',
    next: 'Verify the customer again, or offboard it.',
    severity: 'medium',
  },
  archived_dossier: {
    title: 'active customer with an archived dossier',
    next: 'Verify the customer again, or offboard it.',
    severity: 'medium',
  },
  stale_dossier: {
    title: 'active customer with a dossier that has not changed for a long time',
    next: 'Renew the verification.',
    severity: 'medium',
  },
  customer_without_dossier: {
    title: 'customer without a dossier',
    next: 'Invite the customer to be verified.',
    severity: 'medium',
  },
  dossier_without_customer: {
    title: 'dossier without a customer',
    next: 'Add the customer to the roster, or correct the reference; a customer on no roster is not screened.',
    severity: 'medium',
  },
  shared_dossier: {
    title: 'one dossier for several customers',
    next: 'Give each customer its own dossier, or correct the references.',
    severity: 'medium',
  },
  duplicate_reference: {
    title: 'customers with one reference',
    next: 'Make the references of the roster unique.',
    severity: 'medium',
  },
  several_dossiers: {
    title: 'several dossiers for one customer',
    next: 'Archive all but one; the newest approved one counts, else the newest.',
    severity: 'medium',
  },
  left_with_open_dossier: {
    title: 'offboarded customer with an open dossier',
    next: 'Close the dossier.',
    severity: 'medium',
  },
} as const;
