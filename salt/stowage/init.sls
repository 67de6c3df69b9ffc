{#- Writes the node's list of directories and devices that Stowage may use: `salt MINION state.apply stowage`. Pillar:

stowage:
  nodes: [n1]                                  # default: the ID of the minion
  directories: [/var/lib/metalk8s/storage/sparse]
  devices: ['/dev/disk/by-id/wwn-0x5000c500a']  # default: none
  groups: [vg0]                                # volume groups; default: none
  kubelets: [/var/lib/kubelet]                 # root directory of the kubelet, searched for volumes in use; default: this
#}
{%- set path = salt['config.get']('stowage_allowed', '/etc/stowage/allowed') %}
{%- set allowed = salt['pillar.get']('stowage', {}) %}

stowage_allowed:
  file.managed:
    - name: {{ path }}
    - user: root
    - group: root
    - mode: '0644'
    - makedirs: True
    - dir_mode: '0755'
    - contents:
      - '# Written by Salt, from the pillar stowage.'
{%- for word, key, default in [('node', 'nodes', []), ('directory', 'directories', ['/var/lib/metalk8s/storage/sparse']), ('device', 'devices', []), ('group', 'groups', []), ('kubelet', 'kubelets', [])] %}
{%- for value in allowed.get(key, default) %}
      - {{ (word ~ ' ' ~ value) | json }}
{%- endfor %}
{%- endfor %}
