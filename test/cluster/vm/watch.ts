import { type Service, startService } from '../../support/service.ts';

export type { Status } from '../../support/service.ts';
export type Watch = Pick<Service, 'statuses' | 'log' | 'stop'>;

/** Starts `stowage watch` over ssh, from the build, with its log in `folder`. */
export function startWatch(kubeconfig: string, sshConfig: string, folder: string): Watch {
  const service = startService(kubeconfig, ['--ssh-config', sshConfig], folder);
  return {
    ...service,
    async stop() {
      const exit = await service.stop();
      if (service.starts() > 1) throw new Error('stowage watch had ended by itself');
      return exit;
    },
  };
}
