import { describe, expect, test } from 'bun:test';
import { fixturesIn, plain, plainCompletion, plainFailure } from '../../testing/fixtures.ts';
import { testUpstream } from '../../testing/upstream.ts';
import { bedrockFailure } from './failure.ts';
import { ConverseReader } from './reader.ts';
import { toConverse } from './request.ts';
import type { ConverseAnswer } from './wire.ts';

const upstream = testUpstream({ dialect: 'bedrock', baseUrl: 'http://127.0.0.1:9', secret: 'secret' });

for (const fixture of fixturesIn(import.meta.dir))
  describe(fixture.name, () => {
    const { request, answer, status } = fixture;
    if (request) test('is asked so', () => expect(plain(toConverse(request).body)).toEqual(fixture.upstream));
    if (answer)
      test('is answered so', () =>
        expect(
          plainCompletion(
            new ConverseReader('asked', 'bedrock', fixture.answersByTool ?? false).whole(
              answer as ConverseAnswer,
            ),
          ),
        ).toEqual(fixture.completion));
    if (status)
      test('fails so', async () =>
        expect(await plainFailure(fixture, bedrockFailure, upstream)).toEqual(fixture.failure));
  });
