import { doubtful, type Finding, well } from '../finding.js';
import { describeShape, describeUnexpected, toShownKey } from './describe-answer.js';
import type { Probe } from './probe.js';
import type { ProbeSender } from './probe-sender.js';

const judgeEnvelope = (check: string, value: unknown): Finding => {
  if (Array.isArray(value)) return well(check, 'a bare list without an envelope');
  const shape = describeShape(value);
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const lists = entries.filter(([, inner]) => Array.isArray(inner)).map(([key]) => key);
  const [list, ...others] = lists;
  if (list !== undefined && others.length === 0)
    return well(check, `the list is in \`${toShownKey(list)}\`, found by itself`);
  const problem = list === undefined ? 'no list in' : `${lists.length} lists in`;
  return doubtful(check, `${problem} ${shape}`, 'the client takes the only list in the envelope: report this form');
};

const probeList = (sender: ProbeSender, check: string, path: string, query: Record<string, string>): Probe => ({
  check,
  ask: async () => {
    const answer = await sender.send({ method: 'GET', path, query });
    if (answer.status !== 200 || answer.value === undefined || !answer.isComplete) {
      const next = 'needed only where invitations are sent; ask the service for the right to use them';
      return doubtful(check, `GET ${path}: ${describeUnexpected(answer)}`, next);
    }
    return judgeEnvelope(check, answer.value);
  },
});

/** Where the lists of invitations and of locales stand in their answers, which the interface does not show (interface: Workflow invitations). */
export const probeLists = (sender: ProbeSender): Probe[] => [
  probeList(sender, 'invitations list', '/autodoc/invitations', { per_page: '1' }),
  probeList(sender, 'locales list', '/autodoc/invitations/locales', {}),
];
