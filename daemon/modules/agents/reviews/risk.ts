import { RISKS } from '../../../../src/api/agents/reviews.ts';

/** What a call may be about. */
export type Risk = (typeof RISKS)[number];

/** So much of the arguments is looked at. */
const LOOKED_AT = 16 * 1024;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Words that make people look twice, in any part of the tool's name or of its arguments. */
const WORDS: Readonly<Record<Risk, ReadonlySet<string>>> = {
  destructive: words(
    `delete remove rm rmdir unlink drop truncate destroy terminate purge wipe erase kill pkill shutdown reboot format mkfs dd
     shred overwrite revoke uninstall prune force hard`,
  ),
  production: words('prod production live release deploy deployment rollout rollback publish'),
  external: words(
    `http https ftp ssh scp rsync curl wget web webhook mcp email mail smtp sms send post push upload tweet slack discord telegram
     publish`,
  ),
  billing: words(
    `billing bill invoice invoices pay payment payments payout charge charges refund refunds purchase order checkout subscribe
     subscription transfer price wallet`,
  ),
  sensitive: words(
    `password passwords passwd shadow secret secrets token tokens credential credentials apikey ssh keychain vault pem rsa env
     private ssn iban passport salary`,
  ),
};

/**
 * Badges for a reviewer's eye, guessed from the words of a call; in the order of RISKS. A word too many costs a look, and its
 * absence proves nothing: decisions are not made by it.
 */
export function riskOf(toolName: string, toolArgs: string): Risk[] {
  const found = new Set(wordsOf(`${toolName} ${toolArgs.slice(0, LOOKED_AT)}`));
  return RISKS.filter((risk) => !WORDS[risk].isDisjointFrom(found));
}

/** Lower-case words: `deleteUser`, `delete_user` and `rm -rf` are `delete user`, `delete user` and `rm rf`. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
}
