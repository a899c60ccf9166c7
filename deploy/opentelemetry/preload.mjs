// Sends what nightscreen does as OpenTelemetry traces: a trace per run, in it a span per stage, in that the attempts at the service that failed or
// were slow. Preloaded (`node --import`), configured by the OTEL_... variables; see docs/metrics.md.
import { subscribe } from 'node:diagnostics_channel';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const wantedAttempts = process.env.NIGHTSCREEN_TRACE_ATTEMPTS ?? 'failed';
if (!['failed', 'all', 'none'].includes(wantedAttempts)) {
  throw new Error(`NIGHTSCREEN_TRACE_ATTEMPTS is ${wantedAttempts}: write failed, all or none`);
}
const slowMs = 2_000;

const provider = new NodeTracerProvider({
  resource: defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'nightscreen' }))
    .merge(detectResources({ detectors: [envDetector] })),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
const tracer = provider.getTracer('nightscreen');

/** Open spans: of runs by their id, and of each run's stage. */
const runs = new Map();
const stages = new Map();
let goingRunId = null;

const under = (span) => (span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT);
const current = () => stages.get(goingRunId) ?? runs.get(goingRunId);

const closeStage = (runId, attributes = {}) => {
  stages.get(runId)?.setAttributes(attributes).end();
  stages.delete(runId);
};

const closeRun = (runId, attributes, failure) => {
  closeStage(runId);
  const span = runs.get(runId);
  if (span && failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span?.setAttributes(attributes).end();
  runs.delete(runId);
  if (goingRunId === runId) goingRunId = null;
};

const heard = {
  run_started: ({ runId, runKind, roster, resumed }) => {
    if (runs.has(runId)) closeRun(runId, {}, 'went on without an end');
    const attributes = {
      'nightscreen.run.id': runId,
      'nightscreen.run.kind': runKind,
      'nightscreen.run.resumed': resumed,
      ...(roster === null ? {} : { 'nightscreen.roster': roster }),
    };
    runs.set(runId, tracer.startSpan(`run ${runKind}`, { attributes }, ROOT_CONTEXT));
    goingRunId = runId;
  },
  stage_started: ({ runId, stage }) => {
    closeStage(runId);
    stages.set(runId, tracer.startSpan(`stage ${stage}`, {}, under(runs.get(runId))));
  },
  stage_finished: ({ runId, counts }) =>
    closeStage(
      runId,
      Object.fromEntries(Object.entries(counts).map(([name, count]) => [`nightscreen.${name}`, count])),
    ),
  warning: ({ code }) => current()?.addEvent('warning', { code }),
  service: ({ event }) => current()?.addEvent(event.kind),
  run_finished: ({ runId, state }) =>
    closeRun(runId, { 'nightscreen.run.state': state }, state === 'complete' ? undefined : state),
};

// What goes wrong here must not touch the run.
let hasComplained = false;
const guard = (listen) => (message) => {
  try {
    listen(message);
  } catch (error) {
    if (!hasComplained) process.emitWarning(`tracing failed: ${error}`, { code: 'tracing_failed' });
    hasComplained = true;
  }
};

subscribe(
  'nightscreen:run-event',
  guard((event) => heard[event.kind]?.(event)),
);

subscribe(
  'nightscreen:attempt',
  guard(({ attempt, end }) => {
    const isOk = end.outcome === 'ok';
    const isWanted = wantedAttempts === 'all' || !isOk || end.endedAt - attempt.startedAt >= slowMs;
    if (wantedAttempts === 'none' || !isWanted) return;
    const attributes = {
      'http.request.method': attempt.method,
      'http.request.resend_count': attempt.attempt - 1,
      'nightscreen.outcome': end.outcome,
      ...(end.status === null ? {} : { 'http.response.status_code': end.status }),
    };
    const span = tracer.startSpan(
      attempt.operation,
      { kind: SpanKind.CLIENT, startTime: attempt.startedAt, attributes },
      under(current()),
    );
    if (!isOk) span.setStatus({ code: SpanStatusCode.ERROR, message: end.outcome });
    span.end(end.endedAt);
  }),
);

subscribe(
  'nightscreen:exit',
  guard(({ exitCode, waitFor }) => {
    for (const runId of [...runs.keys()]) closeRun(runId, {}, `the process ended with exit code ${exitCode}`);
    waitFor(provider.shutdown());
  }),
);
