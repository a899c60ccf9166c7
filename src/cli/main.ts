#!/usr/bin/env node
import { boundHeap } from './bound-heap.js';

// Nobody else hears it while the program is being loaded, and unheard it would end the process.
process.on('SIGUSR2', () => {});
boundHeap();
await import('./run-process.js');
