import { named, type Story, script, shows, watches } from '../story.ts';
import { emptyCluster } from '../worlds.ts';

export const OTHER_STORIES: readonly Story[] = [
  {
    path: 'docs/benchmarks.md',
    world: emptyCluster,
    typed: {
      'npm run bench': script('bench'),
      'npm run bench -- NAME': script('bench'),
      'npm run bench:cluster': script('bench:cluster'),
      'npm run bench:attach [-- --pods N --one N --nodes N --rounds N --throttled-rounds N --attachments N --rest SECONDS]':
        script('bench:attach'),
      'npm run bench:snapshots': script('bench:snapshots'),
      'npm run bench:populate': script('bench:populate'),
      'stowage --version': shows(/^\d+\./),
      'kubectl version --client': shows(/Client Version/),
      'stowage __complete': shows(/^/, "stowage __complete get ''"),
      'kubectl __complete': shows(/volumes/, "kubectl __complete stowage get ''"),
      'stowage get volumes': shows(/^/),
      'kubectl get volumes': shows(/No resources found/),
      'stowage sandbox': named('stowage sandbox', /--kubeconfig-out/),
      'stowage watch': watches,
    },
  },
  { path: 'docs/output.md', world: emptyCluster, typed: {} },
];
