/** Groups members by key, in their order. */
export function gatherBy<Member, Key>(
  members: readonly Member[],
  toKey: (member: Member) => Key,
): ReadonlyMap<Key, Member[]> {
  const byKey = new Map<Key, Member[]>();
  for (const member of members) {
    const known = byKey.get(toKey(member));
    if (known) known.push(member);
    else byKey.set(toKey(member), [member]);
  }
  return byKey;
}
