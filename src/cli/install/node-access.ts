import { COMPONENT } from '../../api/names.ts';
import type { Values } from './values.ts';

/** Flags of the daemon's pod for node access, and the files that they name. */
export interface NodeAccess {
  args: string[];
  volumes: object[];
  mounts: { name: string; mountPath: string; readOnly: true }[];
  /**
   * Objects of the namespace without which the pod does not start, such as `Secret stowage-ssh`.
   */
  needs: string[];
  /** True if a program needs the pod's user in /etc/passwd. */
  needsUser: boolean;
}

/** Default Secret with ssh's `config`, and the keys and known hosts that it names. */
export const SSH_SECRET = 'stowage-ssh';
const SSH_DIRECTORY = '/etc/stowage/ssh';
const SALT_DIRECTORY = '/etc/stowage/salt';
const SALT_CA_DIRECTORY = '/etc/stowage/salt-ca';

/**
 * Mode for any user: the pod's user is not known. All programs of the pod have that user, and only
 * root reaches the file on its node. ssh accepts the mode: it checks only its user's own keys.
 */
const KEY_MODE = 0o444;
/** Lifetime of the token in s; the kubelet renews it after four fifths. */
const TOKEN_LASTS = 3600;

export const nodeAccess = (namespace: string, values: Values): NodeAccess =>
  values.transport === 'salt' ? overSalt(namespace, values) : overSsh(values);

function overSsh({ sshSecret = SSH_SECRET, sshGuard }: Values): NodeAccess {
  return {
    args: [`--ssh-config=${SSH_DIRECTORY}/config`, ...(sshGuard ? ['--ssh-guard'] : [])],
    volumes: [{ name: 'ssh', secret: { secretName: sshSecret, defaultMode: KEY_MODE } }],
    mounts: [{ name: 'ssh', mountPath: SSH_DIRECTORY, readOnly: true }],
    needs: [`Secret ${sshSecret}`],
    needsUser: true,
  };
}

function overSalt(namespace: string, values: Values): NodeAccess {
  const { saltUrl, saltSecret, saltAudience, saltCaConfigmap } = values;
  const isToken = saltAudience !== undefined;
  const { saltEauth = isToken ? 'kubernetes_token' : undefined } = values;
  const { saltUser = isToken ? `system:serviceaccount:${namespace}:${COMPONENT}` : undefined } =
    values;
  const token = {
    serviceAccountToken: { audience: saltAudience, expirationSeconds: TOKEN_LASTS, path: 'secret' },
  };
  return {
    args: [
      ...['--transport=salt', `--salt-url=${saltUrl}`],
      ...(saltEauth === undefined ? [] : [`--salt-eauth=${saltEauth}`]),
      ...(saltUser === undefined ? [] : [`--salt-user=${saltUser}`]),
      `--salt-secret-file=${SALT_DIRECTORY}/secret`,
      ...(saltCaConfigmap === undefined ? [] : [`--salt-ca-file=${SALT_CA_DIRECTORY}/ca.crt`]),
    ],
    volumes: [
      isToken
        ? { name: 'salt', projected: { defaultMode: KEY_MODE, sources: [token] } }
        : { name: 'salt', secret: { secretName: saltSecret, defaultMode: KEY_MODE } },
      ...(saltCaConfigmap === undefined
        ? []
        : [{ name: 'salt-ca', configMap: { name: saltCaConfigmap } }]),
    ],
    mounts: [
      { name: 'salt', mountPath: SALT_DIRECTORY, readOnly: true },
      ...(saltCaConfigmap === undefined
        ? []
        : [{ name: 'salt-ca', mountPath: SALT_CA_DIRECTORY, readOnly: true } as const]),
    ],
    needs: [
      ...(isToken ? [] : [`Secret ${saltSecret}`]),
      ...(saltCaConfigmap === undefined ? [] : [`ConfigMap ${saltCaConfigmap}`]),
    ],
    needsUser: false,
  };
}
