/** Commands that change how a device is shared: {@code tessera scheduler} and {@code tessera quantum}. */
package io.tessera.cli.schedule;
