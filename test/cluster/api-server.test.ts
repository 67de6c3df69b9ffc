import { describe } from '@jest/globals';
import { describeSuites } from '../api-server/server.ts';
import { GATED_SUITES, KUBECTL_SUITES, SUITES } from '../api-server/suites.ts';
import { startControlPlane } from './control-plane/control-plane.ts';

/**
 * Controllers for which the sandbox has stand-ins. Any other controller would write between a
 * test's requests.
 */
const CONTROLLERS = [
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
];

const start = (gate: boolean) => () =>
  startControlPlane({
    controllers: CONTROLLERS,
    apiServerFlags: [`--feature-gates=CrossNamespaceVolumeDataSource=${gate}`],
  });

describe('API server without the gate CrossNamespaceVolumeDataSource', () =>
  describeSuites({ ...SUITES, ...KUBECTL_SUITES }, start(false)));

describe('API server with the gate CrossNamespaceVolumeDataSource', () =>
  describeSuites(GATED_SUITES, start(true)));
