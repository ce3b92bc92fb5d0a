// Textures and surfaces, objects and legacy references.
texture<float, cudaTextureType2D, cudaReadModeElementType> image;
texture<uchar4, 2, cudaReadModeNormalizedFloat> coloured;
texture<int, 1> table;
surface<void, cudaSurfaceType2D> canvas;
__global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float *out, cudaTextureObject_t layered) {
  float x = threadIdx.x + 0.5f, y = threadIdx.y + 0.5f;
  float v = tex2D<float>(t, x, y) + tex1Dfetch<float>(t, threadIdx.x) + tex3D<float>(t, x, y, 1.f) + tex2DLayered<float>(layered, x, y, 2) + tex2DLod<float>(t, x, y, 1);
  v += tex2D(image, x, y) + tex2D(coloured, x, y).x + tex1Dfetch(table, 3);
  float4 gathered = tex2D<float4>(t, x, y);
  tex2D(&v, t, x, y);
  surf2Dwrite(v + gathered.w, s, threadIdx.x * sizeof(float), threadIdx.y);
  surf2Dwrite(make_uchar4(1, 2, 3, 4), canvas, threadIdx.x * 4, threadIdx.y, cudaBoundaryModeClamp);
  float read;
  surf2Dread(&read, s, threadIdx.x * 4, threadIdx.y);
  out[threadIdx.x] = read + surf2Dread<float>(s, 0, 0) + surf3Dread<float>(s, 0, 0, 0);
}
void prepare(cudaArray_t array, float *linear, cudaTextureObject_t *object) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), other = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  image.addressMode[0] = cudaAddressModeWrap;
  image.filterMode = cudaFilterModeLinear;
  image.normalized = true;
  cudaBindTextureToArray(image, array, format);
  cudaBindTexture(0, table, linear, 1024);
  cudaBindTexture2D(nullptr, image, linear, other, 16, 16, 64);
  cudaUnbindTexture(image);
  cudaBindSurfaceToArray(canvas, array);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = linear;
  resource.res.pitch2D.desc = format;
  cudaTextureDesc description;
  memset(&description, 0, sizeof(description));
  description.readMode = cudaReadModeElementType;
  cudaCreateTextureObject(object, &resource, &description, NULL);
  cudaMemcpyToArray(array, 0, 0, linear, 64, cudaMemcpyHostToDevice);
  cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 8, 8), cudaArraySurfaceLoadStore);
}
