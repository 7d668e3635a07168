import { expect, test } from 'bun:test';
import { newId } from '../../../../../src/kit/id.ts';
import { isSealed, policyOf } from '../network/policy.ts';
import { run, type Scene, withBox } from './scene.ts';

/** What every driver does about what boxes reach, wherever it is run. */
export function networkRules(scene: Scene): void {
  const cards = async (id: string) =>
    (await run(scene, 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "', {}, id)).stdout.trim();

  test('a box that reaches nothing stays so when it is told again, and knows no names', async () => {
    await withBox(scene, {}, async (id, { network }) => {
      expect(isSealed(network)).toBe(true);
      await scene.driver.setNetwork(id, network);
      expect(await cards(id)).toBe('lo');
      expect(scene.driver.lookups(id)).toEqual([]);
    });
  });

  test('a policy of a stopped box waits for its start, which has the last word', async () => {
    await withBox(scene, {}, async (id, spec) => {
      await scene.driver.stop(id);
      await scene.driver.setNetwork(id, policyOf('deny'));
      await scene.driver.start(id, spec);
      expect(await cards(id)).toBe('lo');
    });
  });

  test('a box that is not there has no policy', async () => {
    const id = newId('sbx');
    expect(scene.driver.setNetwork(id, policyOf('deny'))).rejects.toMatchObject({ code: 'not_found' });
    expect(scene.driver.lookups(id)).toEqual([]);
  });
}
