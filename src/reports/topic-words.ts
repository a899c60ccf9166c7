/** The topics of the FollowTheMoney model that services send most (service facts: AML vocabulary). */
const topicWords: ReadonlyMap<string, string> = new Map([
  ['sanction', 'Sanctioned'],
  ['sanction.linked', 'Linked to a sanctioned party'],
  ['sanction.counter', 'Counter-sanctioned'],
  ['debarment', 'Debarred'],
  ['role.pep', 'Politically exposed'],
  ['role.rca', 'Close to a politically exposed person'],
  ['role.judge', 'Judge'],
  ['role.civil', 'Civil servant'],
  ['crime', 'Crime'],
  ['crime.boss', 'Criminal leadership'],
  ['crime.cyber', 'Cybercrime'],
  ['crime.fin', 'Financial crime'],
  ['crime.fraud', 'Fraud'],
  ['crime.terror', 'Terrorism'],
  ['crime.theft', 'Theft'],
  ['crime.traffick', 'Trafficking'],
  ['crime.traffick.drug', 'Drug trafficking'],
  ['crime.traffick.human', 'Human trafficking'],
  ['crime.war', 'War crimes'],
  ['wanted', 'Wanted'],
  ['poi', 'Person of interest'],
  ['reg.action', 'Regulatory action'],
  ['reg.warn', 'Regulatory warning'],
  ['export.control', 'Export controlled'],
  ['export.risk', 'Trade risk'],
]);

/** A topic in words; one we do not know is shown as the service sent it. */
export function describeTopic(topic: string): string {
  return topicWords.get(topic) ?? topic;
}
