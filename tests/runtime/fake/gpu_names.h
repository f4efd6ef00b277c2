/* The names of what HIP and CUDA have in the same form. */
#ifndef TESTS_RUNTIME_FAKE_GPU_NAMES_H
#define TESTS_RUNTIME_FAKE_GPU_NAMES_H

#ifdef FAKE_CUDA
#define gpuMalloc            cuMemAlloc_v2
#define gpuFree              cuMemFree_v2
#define gpuMemcpyHtoD        cuMemcpyHtoD_v2
#define gpuMemcpyDtoH        cuMemcpyDtoH_v2
#define gpuModuleLoadData    cuModuleLoadData
#define gpuModuleUnload      cuModuleUnload
#define gpuModuleGetFunction cuModuleGetFunction
#define gpuLaunchKernel      cuLaunchKernel
#define gpuStreamSynchronize cuStreamSynchronize
#define gpuSynchronize       cuCtxSynchronize
#define gpuEventCreate       cuEventCreate
#define gpuEventDestroy      cuEventDestroy_v2
#define gpuEventRecord       cuEventRecord
#define gpuEventSynchronize  cuEventSynchronize
#define gpuEventElapsedTime  cuEventElapsedTime
#define LAUNCH_END           NULL

#define rtcCreateProgram     nvrtcCreateProgram
#define rtcDestroyProgram    nvrtcDestroyProgram
#define rtcCompileProgram    nvrtcCompileProgram
#define rtcGetProgramLogSize nvrtcGetProgramLogSize
#define rtcGetProgramLog     nvrtcGetProgramLog
#define rtcGetCodeSize       nvrtcGetCUBINSize
#define rtcGetCode           nvrtcGetCUBIN
#define rtcGetErrorString    nvrtcGetErrorString
#define rtcVersion           nvrtcVersion
#define RTC_CHIP_OPTION      "-arch="
#define RTC_ERROR            "NVRTC_ERROR_COMPILATION"
#define RTC_MAJOR            13
#else
#define gpuMalloc            hipMalloc
#define gpuFree              hipFree
#define gpuMemcpyHtoD        hipMemcpyHtoD
#define gpuMemcpyDtoH        hipMemcpyDtoH
#define gpuModuleLoadData    hipModuleLoadData
#define gpuModuleUnload      hipModuleUnload
#define gpuModuleGetFunction hipModuleGetFunction
#define gpuLaunchKernel      hipModuleLaunchKernel
#define gpuStreamSynchronize hipStreamSynchronize
#define gpuSynchronize       hipDeviceSynchronize
#define gpuEventCreate       hipEventCreateWithFlags
#define gpuEventDestroy      hipEventDestroy
#define gpuEventRecord       hipEventRecord
#define gpuEventSynchronize  hipEventSynchronize
#define gpuEventElapsedTime  hipEventElapsedTime
#define LAUNCH_END           ((void *)3)

#define rtcCreateProgram     hiprtcCreateProgram
#define rtcDestroyProgram    hiprtcDestroyProgram
#define rtcCompileProgram    hiprtcCompileProgram
#define rtcGetProgramLogSize hiprtcGetProgramLogSize
#define rtcGetProgramLog     hiprtcGetProgramLog
#define rtcGetCodeSize       hiprtcGetCodeSize
#define rtcGetCode           hiprtcGetCode
#define rtcGetErrorString    hiprtcGetErrorString
#define rtcVersion           hiprtcVersion
#define RTC_CHIP_OPTION      "--offload-arch="
#define RTC_ERROR            "HIPRTC_ERROR_COMPILATION"
#define RTC_MAJOR            7
#endif

#define NAME_OF(name)   NAME_TEXT(name)
#define NAME_TEXT(name) #name

#endif
