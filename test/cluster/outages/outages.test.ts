import { outageCases, type Restartable } from '../../support/outage-cases.ts';
import { startScene } from './scene.ts';

outageCases(
  'Volumes of a real API server, over ssh, while parts of it are away',
  ['the API server is down', 'sshd is down', 'the network is cut'],
  { away: 'sshd is down', says: 'node n1 is unreachable over ssh: ' },
  async ({ folder }) => {
    const scene = await startScene(folder);
    const { controlPlane, sshd, network } = scene;
    const parts: Record<string, Restartable> = {
      'the API server is down': {
        stop: controlPlane.stopApiServer,
        start: controlPlane.startApiServer,
      },
      'sshd is down': sshd,
      'the network is cut': network,
    };
    return {
      ...scene,
      flags: ['--ssh-config', scene.sshConfig],
      part: (name) => parts[name] as Restartable,
    };
  },
);
