import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/index.js';
import { answerJson, openClient, type TestService } from './start-service.js';

let service: TestService;
let client: Client;

const start = async (status: number, answer: unknown, more = {}): Promise<Client> => {
  ({ service, client } = await openClient((_request, response) => answerJson(response, status, answer), more));
  return client;
};

const link = { verification_url: 'https://verify.example/1' };

test.each<[object, string]>([
  [{ token: 'ABC123DEF' }, 'ABC123DEF'],
  [{ dossier_id: 'dossier_1' }, 'dossier_1'],
  [{ id: 'dossier_1', hue: 'red' }, 'dossier_1'],
  [{ id: 'dossier_1', token: 'ABC123DEF', qr_base64_png: 'aGk=' }, 'ABC123DEF'],
])('a new dossier answered as %j keeps all that came and has its token', async (named, token) => {
  const { dossiers } = await start(201, { ...named, ...link });
  const answer = await dossiers.create({ type: 'kyc', level: 'Gold' });
  expect(answer.data).toEqual({ ...named, ...link, token });
});

test.each<[object, string]>([
  [link, 'has none of'],
  [{ ...link, token: null }, 'has none of'],
  [{ ...link, id: 7 }, 'id'],
  [{ token: 'ABC123DEF' }, 'verification_url'],
  [{ ...link, token: 'ABC123DEF', qr_base64_png: 1 }, 'qr_base64_png'],
])('a new dossier answered as %j is a ResponseError, and none is created again', async (answer, complaint) => {
  const { dossiers } = await start(201, answer);
  const created = dossiers.create({ type: 'kyc', level: 'Gold' });
  await expect(created).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  await expect(created).rejects.toThrow(complaint);
  expect(service.received).toHaveLength(1);
});

test('the level goes out under the name that the settings give, and unknown fields as they are', async () => {
  const { dossiers } = await start(201, { ...link, id: 'dossier_1' }, { dossiers: { levelField: 'kyb_level' } });
  await dossiers.create({ type: 'kyb', level: 'Gold', applicant: { first_name: 'Plantina' } });
  expect(JSON.parse(service.received[0]?.body ?? '')).toEqual({
    type: 'kyb',
    kyb_level: 'Gold',
    applicant: { first_name: 'Plantina' },
  });
});

const asset = {
  type: 'selfie',
  name: null,
  page: 1,
  url: 'https://media.example/1',
  created_at: '2025-01-02T03:04:05+0100',
};
const entity = { identity_documents: [{ images: [{ url: 'x', side: 'front' }] }], media: [asset], liveness_images: [] };
const dossier = { id: 'dossier_1', type: 'kyc', status: 'a_new_state', media: [asset], entities: [entity], more: 1 };

test('a dossier is given with its media and every field that came', async () => {
  const { dossiers } = await start(200, dossier);
  expect((await dossiers.retrieve('dossier_1')).data).toEqual(dossier);
  expect((await dossiers.retrieve('ABC123DEF')).data.entities[0]?.identity_documents[0]?.images[0]?.url).toBe('x');
});

test('another dossier than the one asked for is never taken', async () => {
  const { dossiers } = await start(200, dossier);
  await expect(dossiers.retrieve('dossier_2')).rejects.toMatchObject({ name: 'ResponseError', code: 'echo_mismatch' });
});

test('another record than the one looked up is never taken, and one that names no id or a humanized one is', async () => {
  const { aml, dossiers } = await start(200, { id: 'amla_other', status: 'open' });
  await expect(aml.activity('amla_mine')).rejects.toMatchObject({ name: 'ResponseError', code: 'echo_mismatch' });
  expect((await dossiers.decision('decision_1')).data).toMatchObject({ status: 'open' });
  expect((await aml.activity('amla_other')).data).toMatchObject({ id: 'amla_other' });
});

test.each<[object, string]>([
  [{ status: null }, 'status'],
  [{ media: undefined }, 'media'],
  [{ media: [{ ...asset, url: '' }] }, 'media[0].url'],
  [{ media: [{ ...asset, created_at: 'now' }] }, 'media[0].created_at'],
  [{ entities: {} }, 'entities'],
  [{ entities: [{ ...entity, liveness_images: [{}] }] }, 'entities[0].liveness_images[0].url'],
  [{ entities: [{ ...entity, identity_documents: [{}] }] }, 'entities[0].identity_documents[0].images'],
])('a dossier with %j is never taken', async (wrong, place) => {
  const { dossiers } = await start(200, { ...dossier, ...wrong });
  const retrieved = dossiers.retrieve('dossier_1');
  await expect(retrieved).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  await expect(retrieved).rejects.toThrow(`: ${place}: `);
});

test.each([{}, [], [{ id: 'entity_1' }], 'entity', null])('%j is no record', async (answer) => {
  const { dossiers, aml } = await start(200, answer);
  const lookUps = [
    dossiers.entity('x'),
    dossiers.identityDocument('x'),
    dossiers.decision('x'),
    dossiers.addressProof('x'),
    dossiers.fundsProof('x'),
    aml.entity('x'),
    aml.activity('x'),
  ];
  for (const lookUp of await Promise.allSettled(lookUps)) {
    expect(lookUp).toMatchObject({ status: 'rejected', reason: { name: 'ResponseError', code: 'invalid_body' } });
  }
});

test('an id is one segment of the path, whatever is in it', async () => {
  const { dossiers } = await start(200, dossier);
  await dossiers.retrieve('a/../b?c#d%2e å');
  expect(service.received[0]?.url).toBe('/dossiers/a%2F..%2Fb%3Fc%23d%252e%20%C3%A5');
});
