/** {@code tessera status}: the manager's status as records and as text. */
package io.tessera.cli.status;
