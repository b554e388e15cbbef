/** Arrays, textures and surfaces. */
package io.tessera.executor.call.texture;
