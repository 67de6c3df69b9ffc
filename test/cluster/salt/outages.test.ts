import { startCluster } from '../../support/cluster.ts';
import { startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { outageCases, type Restartable } from '../../support/outage-cases.ts';
import { allowedFor, flagsFor, startSalt } from './salt.ts';

outageCases(
  'Volumes over Salt while parts of it are away',
  ['salt-api is restarted', 'the salt-master is down', 'the minion is down', 'the network is cut'],
  { away: 'the minion is down', says: 'minion n1 does not answer' },
  async ({ folder }) => {
    const salt = await startSalt({ minions: ['n1'], allowed: allowedFor(folder) });
    const proxy = await startCuttableProxy(Number(new URL(salt.access.url).port));
    const { client, kubeconfig, stop } = await startCluster({ nodes: ['n1'] });
    const parts: Record<string, Restartable> = {
      'salt-api is restarted': salt.api,
      'the salt-master is down': salt.master,
      'the minion is down': salt.minion('n1'),
      'the network is cut': { stop: proxy.cut, start: proxy.mend },
    };
    return {
      client,
      kubeconfig,
      flags: flagsFor({ access: { ...salt.access, url: `https://127.0.0.1:${proxy.port}` } }),
      part: (name) => parts[name] as Restartable,
      async stop() {
        await stop();
        await proxy.stop();
        await salt.stop();
      },
    };
  },
);
