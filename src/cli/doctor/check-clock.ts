import { doubtful, type Finding, well } from './finding.js';

/** One answer of the service: when we asked, when it came, and its own time by the `Date` header, in whole seconds. */
export interface TimedAnswer {
  sentAt: Date;
  receivedAt: Date;
  servedAt: Date | undefined;
}

const toleratedSkewSeconds = 30;

/** How far the service's clock is from this machine's, by the answer that shows the least. */
export function checkClock(answers: readonly TimedAnswer[]): Finding {
  const check = 'clock skew';
  const skews = answers.flatMap(({ servedAt, sentAt, receivedAt }) => {
    if (servedAt === undefined) return [];
    // The header has whole seconds, so the service's instant lies within the second after it.
    const earliest = servedAt.getTime() - receivedAt.getTime();
    const latest = servedAt.getTime() + 1_000 - sentAt.getTime();
    return [earliest > 0 ? earliest : latest < 0 ? latest : 0];
  });
  const [first] = skews;
  if (first === undefined) return well(check, 'no Date header comes, so the clocks were not compared');
  const seconds = Math.round(
    skews.reduce((least, skew) => (Math.abs(skew) < Math.abs(least) ? skew : least), first) / 1_000,
  );
  if (seconds === 0) return well(check, "the service's clock and this machine's agree to the second");
  const words = `the service's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine's`;
  return Math.abs(seconds) <= toleratedSkewSeconds
    ? well(check, words)
    : doubtful(check, words, 'set the clock (NTP): due dates, deadlines and the evidence go by it');
}
