import { describe, expect, test } from 'bun:test';
import { fixturesIn, plain, plainCompletion, plainFailure } from '../../testing/fixtures.ts';
import { testUpstream } from '../../testing/upstream.ts';
import { failedAnswer } from '../failed-answer.ts';
import { CohereReader } from './reader.ts';
import { toCohere } from './request.ts';
import type { CohereAnswer } from './wire.ts';

const upstream = testUpstream({ dialect: 'cohere', baseUrl: 'http://127.0.0.1:9', secret: 'secret' });

for (const fixture of fixturesIn(import.meta.dir))
  describe(fixture.name, () => {
    const { request, answer, status } = fixture;
    if (request) test('is asked so', () => expect(plain(toCohere(request))).toEqual(fixture.upstream));
    if (answer)
      test('is answered so', () =>
        expect(plainCompletion(new CohereReader('asked', 'cohere').whole(answer as CohereAnswer))).toEqual(
          fixture.completion,
        ));
    if (status)
      test('fails so', async () =>
        expect(await plainFailure(fixture, failedAnswer, upstream)).toEqual(fixture.failure));
  });
