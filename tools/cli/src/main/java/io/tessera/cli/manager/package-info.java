/** What the script {@code tessera manager} has Java do. */
package io.tessera.cli.manager;
