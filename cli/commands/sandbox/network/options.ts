import type { Command } from 'commander';
import { list, word } from '../../../args.ts';

/** The options that say what a sandbox reaches. */
export interface NetworkOptions {
  networkMode?: 'allow' | 'whitelist' | 'deny';
  networkBlockAll?: true;
  allowCidr?: string[];
  allowHost?: string[];
}

/** Declares them. @param mode the flags of the mode */
export function networkOptions(command: Command, mode: string): Command {
  return command
    .option(
      mode,
      'allow (the internet), whitelist (what is listed) or deny',
      word('allow', 'whitelist', 'deny'),
    )
    .option('--network-block-all', 'Closes all but the networks of --allow-cidr')
    .option(
      '--allow-cidr <network>',
      'IPv4 network that stays open, such as 203.0.113.0/24; repeatable',
      list,
    )
    .option('--allow-host <name>', 'Name, *.name or @registries of a whitelist; repeatable', list);
}

/** Their fields in a request. */
export function networkRequest({ networkMode, networkBlockAll, allowCidr, allowHost }: NetworkOptions) {
  return { networkMode, networkBlockAll, networkAllowCidrs: allowCidr, networkAllowHosts: allowHost };
}
