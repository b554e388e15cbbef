/** Tests of {@code tessera jvm} against JVMs of their own, with an agent that stands in for the real one. */
package io.tessera.cli.jvm;
