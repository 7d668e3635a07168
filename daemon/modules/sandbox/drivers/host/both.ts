/**
 * The results of two works that go on at once. It fails only when both are over, with what failed first in this order: whoever
 * clears away afterwards clears away after both.
 */
export async function bothOf<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return [await first, await second];
}
