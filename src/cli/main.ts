#!/usr/bin/env node
import { boundHeap } from './bound-heap.js';
import { refuseFewOpenFiles } from './open-files.js';

// Nobody else hears it while the program is being loaded, and unheard it would end the process.
process.on('SIGUSR2', () => {});
boundHeap();
refuseFewOpenFiles(process.argv.includes('--json'));
await import('./run-process.js');
