// cuDNN: handles and the enumerators that host code names; the routines take anything.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/runtime_api.h>
typedef struct cudnnContext *cudnnHandle_t;
typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct *cudnnConvolutionDescriptor_t;
typedef struct cudnnPoolingStruct *cudnnPoolingDescriptor_t;
typedef struct cudnnActivationStruct *cudnnActivationDescriptor_t;
typedef struct cudnnOpTensorStruct *cudnnOpTensorDescriptor_t;
typedef struct cudnnReduceTensorStruct *cudnnReduceTensorDescriptor_t;
typedef struct cudnnDropoutStruct *cudnnDropoutDescriptor_t;
typedef struct cudnnRNNStruct *cudnnRNNDescriptor_t;
typedef enum { CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_NOT_INITIALIZED, CUDNN_STATUS_ALLOC_FAILED, CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_INTERNAL_ERROR, CUDNN_STATUS_INVALID_VALUE, CUDNN_STATUS_ARCH_MISMATCH, CUDNN_STATUS_MAPPING_ERROR, CUDNN_STATUS_EXECUTION_FAILED, CUDNN_STATUS_NOT_SUPPORTED } cudnnStatus_t;
typedef enum { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_INT8 = 3, CUDNN_DATA_INT32 = 4, CUDNN_DATA_BFLOAT16 = 9 } cudnnDataType_t;
typedef enum { CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1, CUDNN_TENSOR_NCHW_VECT_C = 2 } cudnnTensorFormat_t;
typedef enum { CUDNN_CONVOLUTION = 0, CUDNN_CROSS_CORRELATION = 1 } cudnnConvolutionMode_t;
typedef enum { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_CONVOLUTION_FWD_ALGO_FFT, CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_CONVOLUTION_FWD_ALGO_COUNT } cudnnConvolutionFwdAlgo_t;
typedef enum { CUDNN_ACTIVATION_SIGMOID = 0, CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_IDENTITY } cudnnActivationMode_t;
typedef enum { CUDNN_SOFTMAX_FAST = 0, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG } cudnnSoftmaxAlgorithm_t;
typedef enum { CUDNN_SOFTMAX_MODE_INSTANCE = 0, CUDNN_SOFTMAX_MODE_CHANNEL } cudnnSoftmaxMode_t;
typedef enum { CUDNN_POOLING_MAX = 0, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING } cudnnPoolingMode_t;
typedef enum { CUDNN_NOT_PROPAGATE_NAN = 0, CUDNN_PROPAGATE_NAN } cudnnNanPropagation_t;
typedef enum { CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH } cudnnMathType_t;
typedef struct { cudnnConvolutionFwdAlgo_t algo; cudnnStatus_t status; float time; size_t memory; int determinism; cudnnMathType_t mathType; } cudnnConvolutionFwdAlgoPerf_t;
const char *cudnnGetErrorString(cudnnStatus_t status);
#define CUDA_LSP_DNN(name) template <class... A> cudnnStatus_t name(A &&...arguments);
CUDA_LSP_DNN(cudnnCreate) CUDA_LSP_DNN(cudnnDestroy) CUDA_LSP_DNN(cudnnSetStream) CUDA_LSP_DNN(cudnnCreateTensorDescriptor) CUDA_LSP_DNN(cudnnDestroyTensorDescriptor)
CUDA_LSP_DNN(cudnnSetTensor4dDescriptor) CUDA_LSP_DNN(cudnnSetTensorNdDescriptor) CUDA_LSP_DNN(cudnnCreateFilterDescriptor) CUDA_LSP_DNN(cudnnDestroyFilterDescriptor)
CUDA_LSP_DNN(cudnnSetFilter4dDescriptor) CUDA_LSP_DNN(cudnnSetFilterNdDescriptor) CUDA_LSP_DNN(cudnnCreateConvolutionDescriptor) CUDA_LSP_DNN(cudnnDestroyConvolutionDescriptor)
CUDA_LSP_DNN(cudnnSetConvolution2dDescriptor) CUDA_LSP_DNN(cudnnSetConvolutionNdDescriptor) CUDA_LSP_DNN(cudnnGetConvolution2dForwardOutputDim) CUDA_LSP_DNN(cudnnGetConvolutionNdForwardOutputDim)
CUDA_LSP_DNN(cudnnGetConvolutionForwardAlgorithm_v7) CUDA_LSP_DNN(cudnnFindConvolutionForwardAlgorithm) CUDA_LSP_DNN(cudnnGetConvolutionForwardWorkspaceSize) CUDA_LSP_DNN(cudnnConvolutionForward)
CUDA_LSP_DNN(cudnnConvolutionBackwardData) CUDA_LSP_DNN(cudnnConvolutionBackwardFilter) CUDA_LSP_DNN(cudnnSoftmaxForward) CUDA_LSP_DNN(cudnnSoftmaxBackward) CUDA_LSP_DNN(cudnnActivationForward)
CUDA_LSP_DNN(cudnnCreateActivationDescriptor) CUDA_LSP_DNN(cudnnSetActivationDescriptor) CUDA_LSP_DNN(cudnnPoolingForward) CUDA_LSP_DNN(cudnnAddTensor) CUDA_LSP_DNN(cudnnSetConvolutionMathType)
CUDA_LSP_DNN(cudnnSetConvolutionGroupCount) CUDA_LSP_DNN(cudnnOpTensor) CUDA_LSP_DNN(cudnnReduceTensor) CUDA_LSP_DNN(cudnnBatchNormalizationForwardTraining)
#undef CUDA_LSP_DNN
#include <cuda_lsp/show_macros.h>
