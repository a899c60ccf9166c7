import { doubtful, well } from '../finding.js';
import { describeShape, describeUnexpected } from './describe-answer.js';
import { makeUnknownId } from './make-unknown-id.js';
import type { Probe } from './probe.js';
import type { ProbeSender } from './probe-sender.js';

const read = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

const codePaths = [['error', 'type'], ['error', 'code'], ['code'], ['error'], ['type'], ['error_code']];

/** The shape of an error and where its code stands, seen in the 404 of a dossier that is none (interface: Errors). */
export function probeErrorShape(sender: ProbeSender): Probe {
  const check = 'error shape';
  return {
    check,
    ask: async () => {
      const path = `/dossiers/${makeUnknownId()}`;
      const answer = await sender.send({ method: 'GET', path, route: '/dossiers/{id}' });
      if (answer.status !== 404) {
        const came = `a dossier that is none: ${describeUnexpected(answer)} where 404 is due`;
        return doubtful(check, came, 'ask the operators of the service');
      }
      const shape = answer.value === undefined ? 'no JSON' : describeShape(answer.value);
      const place = codePaths.find((keys) => keys.reduce(read, answer.value) === answer.code)?.join('.');
      if (place !== undefined) return well(check, `${shape}, code ${answer.code} in ${place}`);
      return doubtful(
        check,
        `${shape}, no code that the client understands`,
        'nothing to set: errors are then told apart by their status alone',
      );
    },
  };
}
