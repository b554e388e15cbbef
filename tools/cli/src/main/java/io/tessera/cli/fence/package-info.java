/**
 * {@code tessera fence}: fences and compiles the kernels of executables and libraries ahead of time, and says what that
 * does to each. {@link io.tessera.cli.fence.FenceCommand} is the command, {@link io.tessera.cli.fence.ImageFencer} what is
 * done to one image, {@link io.tessera.cli.fence.FenceRun} the work on all of them.
 */
package io.tessera.cli.fence;
