import type { CorsPolicies } from '../../http/cors.ts';
import type { SettingsSnapshot } from './snapshot.ts';

/** The policies for the edge, from what is in force. Whether any is enabled is looked up at changes, not at requests. */
export function corsPolicies(snapshot: SettingsSnapshot): CorsPolicies {
  const server = snapshot.instance.cors;
  const isAnyOn = () => server.enabled || snapshot.ofChanged().some(({ cors }) => cors.enabled);
  let isOn = isAnyOn();
  snapshot.onChange(() => {
    isOn = isAnyOn();
  });
  return {
    get isOn() {
      return isOn;
    },
    server,
    of: (tenant) => snapshot.of(tenant).cors,
  };
}
