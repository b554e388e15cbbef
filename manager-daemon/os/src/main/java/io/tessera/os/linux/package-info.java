/** The ports of {@link io.tessera.os} on Linux, by the foreign function interface. */
package io.tessera.os.linux;
