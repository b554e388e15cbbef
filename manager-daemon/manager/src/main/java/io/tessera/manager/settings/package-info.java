/** Written settings of a manager: {@code tessera.toml}, read when the manager starts and whenever it changes. */
package io.tessera.manager.settings;
