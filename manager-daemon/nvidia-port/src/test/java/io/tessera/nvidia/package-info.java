/** Tests of the NVIDIA port against the scripted driver. */
package io.tessera.nvidia;
