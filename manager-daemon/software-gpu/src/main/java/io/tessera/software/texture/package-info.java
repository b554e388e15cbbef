/** Textures, surfaces and tensor maps as kernels read and write them. */
package io.tessera.software.texture;
