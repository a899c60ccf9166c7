import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../calls.js';
import { cutConnection, hangConnection } from './end-connection.js';
import { createHugeBody, createTricklingBody } from './endless-body.js';
import type { ActiveFault } from './faults.js';
import { toRefusal } from './refuse.js';

const JSON_TYPE = 'application/json';

/**
 * Plays one scripted fault. An error status, a redirect, a cut before the work and a hang before the headers leave the
 * work undone; a cut after the work, a delay, a hang in the body, a huge answer and a raw answer with a 2xx status come
 * when `work` has been done.
 */
export const playFault = async (context: Call, fault: ActiveFault, work: () => Promise<void>): Promise<void> => {
  if ('status' in fault) {
    context.res = toRefusal(context, { ...fault, message: 'scripted fault' });
  } else if ('raw' in fault) {
    const { status, body, contentType } = fault.raw;
    if (status < 300) await work();
    context.res = new Response(body, { status, headers: { 'Content-Type': contentType ?? JSON_TYPE } });
  } else if ('redirect' in fault) {
    context.res = new Response(null, { status: 302, headers: { Location: fault.redirect.location } });
  } else if ('delayMs' in fault) {
    await work();
    await delay(fault.delayMs, undefined, { ref: false });
  } else if ('huge' in fault) {
    await work();
    const headers = { 'Content-Type': JSON_TYPE };
    context.res = new Response(createHugeBody(fault.huge.megabytes), { status: 201, headers });
  } else if ('hang' in fault) {
    if (fault.hang === 'before_headers') return hangConnection(context);
    await work();
    const { status } = context.res;
    context.res = new Response(createTricklingBody(), { status, headers: { 'Content-Type': JSON_TYPE } });
  } else {
    if (fault.cut === 'after_work') await work();
    cutConnection(context);
  }
};
