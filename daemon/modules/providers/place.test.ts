import { describe, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors/app-error.ts';
import { CATALOG } from './catalog/catalog.ts';
import { type PlaceInput, resolvePlace } from './place.ts';

const FIELDS = { dialect: 'dialect', baseUrl: 'url', settings: 'settings' };

function place(name: string, more: Partial<PlaceInput> = {}) {
  return resolvePlace({ name, dialect: '', baseUrl: '', settings: {}, ...more }, FIELDS);
}

const ADDRESSES: ReadonlyArray<readonly [name: string, more: Partial<PlaceInput>, url: string]> = [
  ['openai', {}, 'https://api.openai.com/v1'],
  ['openai', { baseUrl: 'http://proxy.lan:4000/v1/' }, 'http://proxy.lan:4000/v1'],
  ['anthropic', { baseUrl: 'https://api.anthropic.com/v1' }, 'https://api.anthropic.com'],
  ['azure', { baseUrl: 'https://me.openai.azure.com/' }, 'https://me.openai.azure.com/openai/v1'],
  [
    'azure',
    { baseUrl: 'https://me.openai.azure.com', settings: { api_version: '2024-10-21' } },
    'https://me.openai.azure.com/openai',
  ],
  ['azure', { baseUrl: 'https://gate.lan/azure' }, 'https://gate.lan/azure'],
  ['bedrock', { settings: { region: 'eu-west-1' } }, 'https://bedrock-runtime.eu-west-1.amazonaws.com'],
  [
    'bedrock-eu',
    { dialect: 'bedrock', settings: { region: 'eu-west-3' } },
    'https://bedrock-runtime.eu-west-3.amazonaws.com',
  ],
  ['vertex', { settings: { project: 'p' } }, 'https://aiplatform.googleapis.com/v1'],
  [
    'vertex',
    { settings: { project: 'p', location: 'europe-west4' } },
    'https://europe-west4-aiplatform.googleapis.com/v1',
  ],
  ['vllm', { baseUrl: 'http://10.0.0.5:8000' }, 'http://10.0.0.5:8000/v1'],
  ['lab', { baseUrl: 'http://10.0.0.5:8000' }, 'http://10.0.0.5:8000'],
];

const NEEDED: Readonly<Record<string, Record<string, string>>> = {
  bedrock: { region: 'us-east-1' },
  vertex: { project: 'p' },
};

describe('the address', () => {
  test.each(ADDRESSES)('of %s with %j is %s', (name, more, url) => {
    expect(place(name, more).baseUrl).toBe(url);
  });

  test('of every provider of the catalog is one, or is asked for', () => {
    for (const { name, baseUrl } of CATALOG.filter(({ dialect }) => dialect !== 'local')) {
      const settings = NEEDED[name];
      const made = () => place(name, settings ? { settings } : {});
      if (baseUrl === '') expect(made).toThrow('is needed');
      else expect(URL.canParse(made().baseUrl) && !made().baseUrl.endsWith('/')).toBe(true);
    }
  });
});

const WRONG: ReadonlyArray<readonly [name: string, more: Partial<PlaceInput>, field: string]> = [
  ['openai', { baseUrl: 'ftp://x' }, 'url'],
  ['openai', { baseUrl: 'http://u:hunter2@x/' }, 'url'],
  ['openai', { baseUrl: 'http://x/v1?key=hunter2' }, 'url'],
  ['openai', { baseUrl: `http://x/${'a'.repeat(3000)}` }, 'url'],
  ['openai', { dialect: 'anthropic' }, 'dialect'],
  ['lab', { baseUrl: 'http://x', dialect: 'klingon' }, 'dialect'],
  ['lab', { baseUrl: 'http://x', dialect: 'local' }, 'dialect'],
  ['lab', {}, 'url'],
  ['opnai', {}, 'url'],
  ['openai', { settings: { region: 'x' } }, 'settings.region'],
  ['openai', { settings: { constructor: 'x' } }, 'settings.constructor'],
  ['bedrock', {}, 'settings.region'],
  ['bedrock', { settings: { region: 'evil.example/#' } }, 'settings.region'],
  ['bedrock', { settings: { region: 'x\r\nhost: y' } }, 'settings.region'],
  ['vertex', { settings: { location: 'europe-west4' } }, 'settings.project'],
  ['azure', { baseUrl: 'https://x', settings: { 'deployment.': 'x' } }, 'settings.deployment.'],
  ['azure', { baseUrl: 'https://x', settings: { api_version: 'newest' } }, 'settings.api_version'],
];

test.each(WRONG)('%s with %j is refused at %s', (name, more, field) => {
  let thrown: unknown;
  try {
    place(name, more);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(AppError);
  expect((thrown as AppError).violations[0]?.field).toBe(field);
  expect((thrown as AppError).message).not.toContain('hunter2');
});

test('a name that is nearly one of the catalog is told so', () => {
  expect(() => place('opnai')).toThrow('did you mean openai?');
});
