import { beforeEach, describe, expect, test } from 'bun:test';
import type { Call, Route } from '../../../../http/route.ts';
import { openTestApp } from '../../../../testing/app.ts';
import type { SandboxParts } from '../sandbox/index.ts';
import { CALLER, testCall } from '../testing/scene.ts';
import { ARTIFACT_LIMITS, ArtifactService, artifactRoutes, artifactTools } from './index.ts';
import { ArtifactStore, PART_BYTES } from './store.ts';

const DAY = 86_400_000;
let now = 1_700_000_000_000;
let app: ReturnType<typeof openTestApp>;
let store: ArtifactStore;
let artifacts: ArtifactService;
beforeEach(() => {
  now = 1_700_000_000_000;
  app = openTestApp({ now: () => now++ }, {});
  store = new ArtifactStore(app.db);
  artifacts = new ArtifactService(app.db, store, app.clock);
});

const owner = (callId: string, sessionId = 'ses_1', tenant = 'org_a') => ({ tenant, sessionId, callId });
const upload = (callId: string, size: number) =>
  artifacts.upload(owner(callId), `${callId}.bin`, 'application/octet-stream', pieces(size));
const names = () => artifacts.list('org_a', 'ses_1').map(({ callId }) => callId);
const bytesOf = (id: string) => Buffer.concat([...artifacts.read(artifacts.get('org_a', 'ses_1', id))]);

async function* pieces(size: number, piece = 100_000) {
  for (let at = 0; at < size; at += piece)
    yield Buffer.from(Array.from({ length: Math.min(piece, size - at) }, (_, i) => (at + i) % 251));
}

describe('whole results', () => {
  test('are kept once a call, in the transaction of the caller', () => {
    const whole = 'é'.repeat(PART_BYTES);
    const id = artifacts.keepResult(owner('c1'), whole) ?? '';
    expect(artifacts.keepResult(owner('c1'), whole)).toBe(id);
    expect(bytesOf(id).toString()).toBe(whole);
    const undo = () =>
      app.db.transaction(() => {
        artifacts.keepResult(owner('c2'), whole);
        throw new Error('undo');
      });
    expect(undo).toThrow('undo');
    expect(names()).toEqual(['c1']);
  });

  test('make room by the oldest of them, never by files that were handed over', async () => {
    await upload('file', 1_000);
    for (let i = 0; i < ARTIFACT_LIMITS.count + 5; i++) artifacts.keepResult(owner(`r${i}`), 'x');
    expect(names()).toHaveLength(ARTIFACT_LIMITS.count);
    expect(names().at(-1)).toBe('file');
    expect(names()).not.toContain('r5');
    expect(names()).toContain('r6');
  });

  test('are not kept when they are too large', () => {
    expect(artifacts.keepResult(owner('c'), 'x'.repeat(ARTIFACT_LIMITS.each + 1))).toBeUndefined();
    expect(names()).toEqual([]);
  });
});

describe('files', () => {
  test.each([0, 1, PART_BYTES, PART_BYTES + 1, 700_001])(
    'of %d bytes come back byte by byte',
    async (size) => {
      const { id } = await upload('f', size);
      const expected = Buffer.from(
        Array.from({ length: size }, (_, i) => ((i % 100_000) + (i - (i % 100_000))) % 251),
      );
      expect(bytesOf(id).equals(expected)).toBe(true);
    },
  );

  test('that are too large, or whose bytes end badly, leave nothing', async () => {
    expect(upload('big', ARTIFACT_LIMITS.each + 1)).rejects.toMatchObject({ code: 'resource_exhausted' });
    async function* broken() {
      yield Buffer.alloc(PART_BYTES);
      throw new Error('gone');
    }
    expect(artifacts.upload(owner('b'), 'b', 'text/plain', broken())).rejects.toThrow('gone');
    await Bun.sleep(1);
    await upload('wait', 1);
    expect(names()).toEqual(['wait']);
    expect(app.db.raw.query('SELECT count(*) AS n FROM agent_artifact_parts').get()).toEqual({ n: 1 });
  });

  test('are refused when the session is full of files, and nothing is taken away then', async () => {
    for (let i = 0; i < 4; i++) await upload(`f${i}`, ARTIFACT_LIMITS.each);
    expect(upload('more', 1)).rejects.toMatchObject({ code: 'resource_exhausted' });
    await Bun.sleep(1);
    expect(names()).toHaveLength(4);
  });

  test('that were not whole when the daemon ended are gone after its start', () => {
    const row = {
      ...owner('half'),
      id: 'art_half',
      kind: 'upload' as const,
      name: 'x',
      mediaType: 'x',
      size: 0,
    };
    store.insert({ ...row, complete: false, createdAt: now });
    store.addPart('art_half', 0, Buffer.from('x'));
    expect(() => artifacts.get('org_a', 'ses_1', 'art_half')).toThrow();
    store.removeIncomplete();
    expect(store.ofCall('org_a', 'ses_1', 'half')).toBeUndefined();
  });
});

test('what is older than a month is forgotten, all of it', async () => {
  for (let i = 0; i < 45; i++) artifacts.keepResult(owner(`c${i}`), 'x');
  now += 31 * DAY;
  artifacts.keepResult(owner('young'), 'x');
  await artifacts.prune();
  expect(names()).toEqual(['young']);
});

test('another tenant and another session see nothing', () => {
  const id = artifacts.keepResult(owner('c'), 'x') ?? '';
  expect(() => artifacts.get('org_b', 'ses_1', id)).toThrow();
  expect(() => artifacts.get('org_a', 'ses_2', id)).toThrow();
  expect(artifacts.list('org_b', 'ses_1')).toEqual([]);
});

describe('read_artifact', () => {
  const read = (args: object) => {
    const [tool] = artifactTools(artifacts, {} as SandboxParts).filter(
      ({ name }) => name === 'read_artifact',
    );
    return tool?.run({ ...args }, testCall({ caller: { ...CALLER, tenant: 'org_a' }, sessionId: 'ses_1' }));
  };

  test('goes through a text part by part, and loses no character', async () => {
    const whole = '🙂é€a'.repeat(70_000);
    const artifactId = artifacts.keepResult(owner('c'), whole) ?? '';
    let [text, offset]: [string, number | undefined] = ['', 0];
    while (offset !== undefined) {
      const output: string = (await read({ artifactId, offset, limit: 28_671 }))?.output ?? '';
      const [, part = '', next] =
        /^(.*)\n\(bytes \d+-\d+ of \d+(?:; go on with offset (\d+))?\)$/s.exec(output) ?? [];
      text += part;
      offset = next === undefined ? undefined : Number(next);
    }
    expect(text).toBe(whole);
  });

  test('refuses what is no text, and places behind the end', async () => {
    const { id } = await upload('zeros', 1_000);
    expect((await read({ artifactId: id }))?.output).toContain('is no text');
    const artifactId = artifacts.keepResult(owner('c'), 'abc');
    expect((await read({ artifactId, offset: 3 }))?.output).toBe(
      'The artifact has 3 bytes; there is no byte 3.',
    );
    expect((await read({ artifactId, offset: 1, limit: 1 }))?.output).toStartWith('b\n(bytes 1-2 of 3');
  });
});

describe('operations', () => {
  const call = (id: string, params: object, tenant = 'org_a') => {
    const routes: Route[] = artifactRoutes(
      artifacts,
      (whose, session) => whose === 'org_a' && session === 'ses_1',
    );
    const route = routes.find(({ endpoint }) => endpoint.id === id);
    return route?.handle({ caller: { ...CALLER, tenant }, params } as unknown as Call);
  };

  test('list artifacts, and give their bytes as something to save', async () => {
    const id = artifacts.keepResult(owner('c'), 'whole') ?? '';
    expect(call('ListSessionArtifacts', { sessionId: 'ses_1' })).toMatchObject({
      total: 1,
      artifacts: [{ id, toolCallId: 'c', kind: 'result', sizeBytes: '5', name: 'result.txt' }],
    });
    const response = call('GetSessionArtifact', { sessionId: 'ses_1', artifactId: id }) as Response;
    expect(await response.text()).toBe('whole');
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''result.txt");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('name the session or the artifact that is missing', () => {
    expect(() => call('ListSessionArtifacts', { sessionId: 'ses_2' })).toThrow('no session "ses_2"');
    expect(() => call('ListSessionArtifacts', { sessionId: 'ses_1' }, 'org_b')).toThrow('no session');
    expect(() => call('GetSessionArtifact', { sessionId: 'ses_1', artifactId: 'art_x' })).toThrow(
      'no artifact "art_x"',
    );
  });
});
