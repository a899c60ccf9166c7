import { readDocuments } from './shipped-files.js';

const kubernetes = 'deploy/kubernetes';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toName = (value: unknown): unknown => (isObject(value) ? value['name'] : undefined);

/** Merges as a strategic merge patch does what the manifests here have: objects by key, lists of named things by name, other lists whole. */
function merge(base: unknown, patch: unknown): unknown {
  if (isObject(base) && isObject(patch)) {
    const merged = Object.entries(patch).map(([key, value]) => [key, key in base ? merge(base[key], value) : value]);
    return { ...base, ...Object.fromEntries(merged) };
  }
  if (Array.isArray(base) && Array.isArray(patch) && patch.some((each) => toName(each) !== undefined)) {
    const kept = base.map((each: unknown) => {
      const found: unknown = patch.find((other) => toName(other) === toName(each));
      return found === undefined ? each : merge(each, found);
    });
    return [...kept, ...patch.filter((each) => base.every((other: unknown) => toName(other) !== toName(each)))];
  }
  return patch;
}

/** The CronJobs of a file with the pod that `pod/` gives them: what `kubectl kustomize` makes of them, but for image and names of settings. */
export function readCronJobs(path: string): unknown[] {
  const [each] = readDocuments(`${kubernetes}/pod/cronjob.yaml`);
  const [volume] = readDocuments(`${kubernetes}/pod/reports-volume.yaml`);
  return readDocuments(`${kubernetes}/${path}`).map((job) => {
    const { metadata } = isObject(job) ? job : {};
    const labels = isObject(metadata) ? metadata['labels'] : undefined;
    const isWatchdog = isObject(labels) && labels['app.kubernetes.io/component'] === 'watchdog';
    const patched = merge(merge(job, each), isWatchdog ? {} : volume);
    return { ...(isObject(patched) ? patched : {}), metadata };
  });
}
