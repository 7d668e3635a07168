import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { toFile } from 'openai';
import { type SurfacesScene, startSurfaces } from './support/surfaces-scene.ts';
import { heardIn, pngOf } from './support/upstream-surfaces-answer.ts';

/** Large files through the gateway: what they hold in memory, what they leave behind, and how too large ones end. */

const MB = 1024 * 1024;
const UPLOADS = Number(process.env.SVC_TEST_AUDIO_UPLOADS ?? 6);
/** Half of what the files hold: memory that grew with them would be more. */
const MOST_GROWTH = (UPLOADS * 25 * MB) / 2;

let scene: SurfacesScene;

beforeAll(async () => {
  scene = await startSurfaces();
});

afterAll(() => scene?.stop());

const sound = (size: number, seed = 1) =>
  Uint8Array.from({ length: size }, (_, at) => (at * 31 + (at >> 9) * seed) & 255);

const leftBehind = () => {
  const directory = join(scene.daemon.dataDir, 'uploads');
  return existsSync(directory) ? readdirSync(directory) : [];
};

/** Files of uploads that the daemon still holds open. */
function openFiles(): number {
  const folder = `/proc/${scene.daemon.pid}/fd`;
  const targets = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(join(folder, fd));
    } catch {
      return '';
    }
  });
  return targets.filter((target) => target.includes('/uploads/')).length;
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${scene.daemon.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

test.skipIf(process.platform !== 'linux')(
  'sound of 25 MB passes through with little memory and no rest',
  async () => {
    const bytes = sound(25 * MB);
    const name = 'long.wav';
    const heard = heardIn(name, bytes);
    const ask = async () => {
      const file = await toFile(bytes, name);
      return scene.client.audio.transcriptions.create({ file, model: 'openai/hear' });
    };
    expect((await ask()).text).toContain(heard);
    const before = residentBytes();
    let mostFiles = 0;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes());
      mostFiles = Math.max(mostFiles, openFiles());
    }, 20);
    const made = await Promise.all(Array.from({ length: UPLOADS }, ask));
    clearInterval(watch);
    for (const { text } of made) expect(text).toContain(heard);
    console.log(`${UPLOADS} uploads of 25 MB at once: RSS grew by ${((most - before) / MB).toFixed(0)} MiB`);
    expect(most - before).toBeLessThan(MOST_GROWTH);
    expect(leftBehind()).toEqual([]);
    expect(mostFiles).toBeGreaterThan(0);
    await until(() => openFiles() === 0);
  },
);

test('a file that is too large is 413, whether its length was said or not', async () => {
  const form = new FormData();
  form.append('model', 'openai/hear');
  form.append('file', new Blob([sound(26 * MB)]), 'too-long.wav');
  const whole = new Response(form);
  const headers = {
    authorization: `Bearer ${scene.daemon.apiKey}`,
    'content-type': whole.headers.get('content-type') ?? '',
  };
  const body = await whole.arrayBuffer();
  const address = `${scene.daemon.url}/compat/v1/audio/transcriptions`;
  const { count } = await scene.seen();
  const said = await fetch(address, { method: 'POST', headers, body });
  expect(said.status).toBe(413);
  const stream = new ReadableStream<Uint8Array>({
    start(sink) {
      for (let at = 0; at < body.byteLength; at += MB) sink.enqueue(new Uint8Array(body.slice(at, at + MB)));
      sink.close();
    },
  });
  const unsaid = await fetch(address, { method: 'POST', headers, body: stream });
  expect(unsaid.status).toBe(413);
  expect((await scene.seen()).count).toBe(count);
  expect(leftBehind()).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'a caller that leaves in the middle of a file leaves nothing behind',
  async () => {
    const leaving = new AbortController();
    const headers = {
      authorization: `Bearer ${scene.daemon.apiKey}`,
      'content-type': 'multipart/form-data; boundary=B',
    };
    const stream = new ReadableStream<Uint8Array>({
      async pull(sink) {
        sink.enqueue(Buffer.from('--B\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'));
        for (let i = 0; i < 4; i++) sink.enqueue(sound(MB));
        await Bun.sleep(100);
        leaving.abort();
      },
    });
    const init = { method: 'POST', headers, body: stream, signal: leaving.signal };
    const ended = await fetch(`${scene.daemon.url}/compat/v1/audio/transcriptions`, init).catch(
      (error: Error) => error.name,
    );
    expect(ended).toBe('AbortError');
    await until(() => openFiles() === 0);
    expect(leftBehind()).toEqual([]);
  },
);

test('several large pictures keep what they are, in memory and on disk', async () => {
  const large = (seed: string) => Buffer.concat([pngOf(seed), sound(600 * 1024)]);
  const [one, two] = [large('one'), large('two')];
  const image = [await toFile(one, 'one.png'), await toFile(two, 'two.png')];
  const made = await scene.client.images.edit({ model: 'openai/paint', image, prompt: 'blue' });
  const seed = `blue ${heardIn('one.png', one)} ${heardIn('two.png', two)} 0`;
  expect(Buffer.from(made.data?.[0]?.b64_json ?? '', 'base64')).toEqual(pngOf(seed));
});

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 200 && !holds(); attempt++) await Bun.sleep(25);
  expect(holds()).toBe(true);
}
