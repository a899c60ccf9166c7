import { createRequire } from 'node:module';
import {
  type AmlSearchResult,
  type AttemptObserver,
  AuthenticationError,
  createClient,
  type DossierSummary,
} from 'nightscreen';

// A package whose types got lost would give `any` everywhere, and this line would not compile.
const isTyped: 0 extends 1 & AmlSearchResult ? never : true = true;

const environment = (name: string): string => process.env[name] ?? '';

let attempts = 0;
const observer: AttemptObserver = {
  ended: () => {
    attempts += 1;
  },
};

const baseUrl = environment('NIGHTSCREEN_BASE_URL');
const client = createClient({ baseUrl, apiKey: environment('NIGHTSCREEN_API_KEY'), mode: 'test', observer });
const { data } = await client.aml.search({ type: 'person', name: environment('SEARCHED_NAME') });
const hits: AmlSearchResult['results'] = data.results.filter((match) => match.match);

const dossiers: DossierSummary[] = [];
for await (const dossier of client.dossiers.list({ per_page: 2 })) dossiers.push(dossier);
await client.close();

const stranger = createClient({ baseUrl, apiKey: 'private_sandbox_Unknown' });
const refusal = await stranger.apiKeys.public().then(
  () => 'none',
  (error: unknown) => (error instanceof AuthenticationError ? `${error.name} ${error.status}` : 'another error'),
);
await stranger.close();

const names = hits.map((hit) => hit.name);
const manifest = createRequire(import.meta.url).resolve('nightscreen/package.json');
const found = { isTyped, attempts, names, dossiers: dossiers.length, refusal, manifest };
process.stdout.write(JSON.stringify(found));
