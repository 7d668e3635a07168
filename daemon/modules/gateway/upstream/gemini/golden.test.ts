import { describe, expect, test } from 'bun:test';
import { fixturesIn, plain, plainCompletion, plainFailure } from '../../testing/fixtures.ts';
import { testUpstream } from '../../testing/upstream.ts';
import { geminiFailure } from './failure.ts';
import { GeminiReader } from './reader.ts';
import { toGemini } from './request.ts';

function read(answer: unknown) {
  const reader = new GeminiReader('asked', 'gemini');
  return [...reader.read(answer), ...reader.end()];
}

const upstream = testUpstream({ dialect: 'gemini', baseUrl: 'http://127.0.0.1:9', secret: 'secret' });

for (const fixture of fixturesIn(import.meta.dir))
  describe(fixture.name, () => {
    const { request, answer, status } = fixture;
    if (request) test('is asked so', () => expect(plain(toGemini(request))).toEqual(fixture.upstream));
    if (answer)
      test('is answered so', () => expect(plainCompletion(read(answer))).toEqual(fixture.completion));
    if (status)
      test('fails so', async () =>
        expect(await plainFailure(fixture, geminiFailure, upstream)).toEqual(fixture.failure));
  });
