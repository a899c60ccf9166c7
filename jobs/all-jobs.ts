import type { Job } from '../src/runs/app-context.js';
import { dirtyJob } from './dirty.js';
import { mailJob } from './mail.js';
import { onboardJob } from './onboard.js';
import { reconcileJob } from './reconcile.js';
import { reportJob } from './report.js';
import { rescreenJob } from './rescreen.js';
import { retentionJob } from './retention.js';
import { sweepJob } from './sweep.js';

export const allJobs: readonly Job[] = [
  rescreenJob,
  sweepJob,
  reportJob,
  onboardJob,
  mailJob,
  reconcileJob,
  dirtyJob,
  retentionJob,
];
